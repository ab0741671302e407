// The TypeScript SDK's client against a server: `node typescript_client.mjs ERA COMMAND...`.
// What it sees is printed as JSON. v2 of the SDK speaks the modern era, v1 the handshake.
const [era, command, ...args] = process.argv.slice(2);
const isModern = era === "modern";
const [{ Client }, { StdioClientTransport }] = await Promise.all(
  isModern
    ? [import("@modelcontextprotocol/client"), import("@modelcontextprotocol/client/stdio")]
    : [
        import("@modelcontextprotocol/sdk/client/index.js"),
        import("@modelcontextprotocol/sdk/client/stdio.js"),
      ],
);
const options = isModern ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "test", version: "1" }, options);
await client.connect(
  new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }),
);

const seen = { protocol: client.getNegotiatedProtocolVersion?.() ?? "handshake" };
seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
const page = await client.callTool({ name: "ubp_get_page", arguments: { filepath: "docs/a.md" } });
seen.title = page.structuredContent.title;
seen.errors = [];
for (const request of [
  { name: "nope", arguments: {} },
  { name: "ubp_get_page", arguments: { filepath: "docs/nope.md" } },
]) {
  const answer = await client.callTool(request).catch((error) => error);
  seen.errors.push(answer.isError ? answer._meta["ubp/error"].code : answer.code);
}
seen.resource = (await client.readResource({ uri: "ubp://page/docs/a.md" })).contents[0].mimeType;
const prompt = { name: "ubp_update_stale_page", arguments: { filepath: "docs/a.md" } };
seen.prompt = (await client.getPrompt(prompt)).messages[0].role;
const reference = { type: "ref/resource", uri: "ubp://page/{+filepath}" };
const argument = { name: "filepath", value: "docs/" };
seen.completion = (await client.complete({ ref: reference, argument })).completion.values;
await client.close();
console.log(JSON.stringify(seen));
