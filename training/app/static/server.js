// Requests to the server.

// Returns the response's JSON. Throws an Error with the server's reason. A `body` makes it a POST.
export const request = async (path, body) => {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is checkers-play still running?");
  }
  const json = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(json.error ?? `The server answered with status ${response.status}.`);
  return json;
};

// Save a text as a file of the user.
export const download = (name, text) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};
