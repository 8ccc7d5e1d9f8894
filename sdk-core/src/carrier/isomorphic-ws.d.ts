// Types of isomorphic-ws as far as they are web-standard; its own pull in all of Node's. The package's import map picks these.

declare const IsomorphicWebSocket: unknown
export default IsomorphicWebSocket
