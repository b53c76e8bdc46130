"use strict";
(() => {
  // Colours: what the reader chose, else what the system prefers.
  const root = document.documentElement;
  const stored = (() => { try { return localStorage.getItem("pboh-theme"); } catch { return null; } })();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = stored || (dark ? "dark" : "light");
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("pboh-theme", root.dataset.theme); } catch { /* a file opened without storage */ }
  });
})();
