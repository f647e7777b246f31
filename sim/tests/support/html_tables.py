"""The tables of a page of HTML."""

from html.parser import HTMLParser


class Tables(HTMLParser):
    """Every table of a page as (id of the part it stands in, title of its details, rows of text)."""

    def __init__(self, text):
        super().__init__()
        self.part, self.title, self.inside, self.tables = "", "", "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("h2", "h3"):
            self.part, self.title = dict(attributes)["id"], ""
        self.title = "" if tag == "summary" else self.title
        if tag == "table":
            self.tables.append((self.part, self.title, []))
        if tag == "tr":
            self.tables[-1][2].append([])
        if tag in ("td", "th"):
            self.tables[-1][2][-1].append("")
        if tag in ("td", "th", "summary"):
            self.inside = tag

    def handle_endtag(self, tag):
        self.inside = "" if tag == self.inside else self.inside
        self.title = "" if tag == "details" else self.title

    def handle_data(self, text):
        if self.inside == "summary":
            self.title += text
        elif self.inside:
            self.tables[-1][2][-1][-1] += text
