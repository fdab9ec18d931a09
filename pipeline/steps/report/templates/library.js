"use strict";
// Unpack what a page holds compressed.
async function unpacked(element) {
  const letters = atob(element.textContent);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

// Unpack the drawing library after the page has loaded; the policy allows it by its hash. Resolves to whether it runs.
const library = (async () => {
  await new Promise((done) => addEventListener("load", () => setTimeout(done)));
  const script = document.createElement("script");
  script.textContent = await unpacked(document.getElementById("library"));
  document.head.append(script);
  return true;
})().catch(() => {
  document.getElementById("unsupported").hidden = false;
  return false;
});
