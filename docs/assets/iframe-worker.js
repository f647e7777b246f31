// The search of the site runs in a worker. From disk (file://) browsers start none, so a hidden frame takes its place.
// The theme looks for the name IFrameWorker. A frame from disk has no origin, so messages go to "*".
(() => {
  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const script = new URL(url, location);
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inner = this.frame.contentWindow;
      addEventListener("message", (event) => {
        if (event.source !== inner) return;
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        this.onmessage?.(event);
      });
      const runtime =
        'self.postMessage = (data) => parent.postMessage(data, "*");' +
        "self.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done, failed) => {" +
        'const script = document.createElement("script"); script.src = url; script.onload = done; script.onerror = failed;' +
        "document.body.appendChild(script); })), Promise.resolve());";
      inner.document.open();
      inner.document.write(`<body><script>${runtime}</script><script src="${script}"></script></body>`);
      inner.document.close();
      this.ready = new Promise((done) => (inner.onload = done));
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  }
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
})();
