// SPDX-License-Identifier: Apache-2.0
//
// Browsers refuse to start workers from files. This runs the script of a worker in a frame instead,
// so that the search works on a copy of the site that was opened from the disk.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = (this.inside = frame.contentWindow);
      const deliver = (target, data) => {
        const event = new MessageEvent("message", { data });
        target.dispatchEvent(event);
        if (target === this && this.onmessage) this.onmessage(event);
      };
      this.deliver = deliver;
      inside.postMessage = (data) => setTimeout(() => deliver(this, data));
      inside.importScripts = (...urls) =>
        Promise.all(urls.map((each) => this.load(new URL(each, url).href)));
      inside.__index = window.__index;
      this.load(url).then(() => {
        this.ready = true;
        for (const data of this.waiting) deliver(inside, data);
      });
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script");
        script.onload = resolve;
        script.onerror = reject;
        script.src = url;
        this.inside.document.body.append(script);
      });
    }

    postMessage(data) {
      if (this.ready) setTimeout(() => this.deliver(this.inside, data));
      else this.waiting.push(data);
    }

    terminate() {}
  };
}
