// The page says that its script is missing until this removes it.
document.querySelector(".no-script").remove();

// Unpack what is compressed: a text, or the data in an element of the page.
async function unpacked(letters) {
  const packed = atob(letters);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
const dataOf = async (element) => JSON.parse(await unpacked(element.textContent));

// Unpack the drawing library after the page has loaded; the policy allows it by its hash. Resolves to whether it runs.
const library = (async () => {
  await new Promise((done) => addEventListener("load", () => setTimeout(done)));
  const script = document.createElement("script");
  script.textContent = await unpacked(PACKED_LIBRARY);
  document.head.append(script);
  if (!window.Plotly) throw new Error("refused");
  return true;
})().catch(() => {
  document.getElementById("unsupported").hidden = false;
  return false;
});
