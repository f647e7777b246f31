def main(): print("stub")
