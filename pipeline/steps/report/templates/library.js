"use strict";
// Unpack the drawing library after the page has loaded; the policy allows it by its hash. Resolves to whether it runs.
const library = (async () => {
  await new Promise((done) => addEventListener("load", () => setTimeout(done)));
  const letters = atob(document.getElementById("library").textContent);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const script = document.createElement("script");
  script.textContent = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  document.head.append(script);
  return true;
})().catch(() => {
  document.getElementById("unsupported").hidden = false;
  return false;
});
