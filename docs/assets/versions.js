// A list of the other versions, beside the title, if the site is in a folder of versions: `./vermilion docs --versions`.
(() => {
  const script = document.createElement("script");
  const top = new URL("../", document.querySelector('script[src*="assets/versions.js"]').src); // of this version's site
  script.src = new URL("../versions.js", top);
  script.onload = () => {
    const here = decodeURIComponent(top.pathname.split("/").at(-2));
    const select = document.createElement("select");
    select.className = "versions";
    select.setAttribute("aria-label", "version");
    for (const name of window.vermilionVersions) select.add(new Option(name, name, false, name === here));
    select.onchange = () => (location.href = new URL(`../${select.value}/index.html`, top));
    document.querySelector(".md-header__title")?.after(select);
  };
  document.head.appendChild(script);
})();
