// The link to the documents. Without a configured address, it is hidden.
const link = document.getElementById("documents");
const address = document.querySelector('meta[name="documents"]').content;

link.hidden = address === "";
if (address) link.href = `${address}/index.html`;
