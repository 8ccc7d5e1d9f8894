// Runs npm on the Node that it came with: Debian's npm finds its parts with Debian's Node alone.

/** @returns the npm that runs this script, else the one in PATH, with arguments */
export function npmCommand(...args: string[]): string[] {
  const { npm_execpath: script, npm_node_execpath: node = process.execPath } = process.env
  return script !== undefined && /npm-cli\.c?js$/.test(script) ? [node, script, ...args] : ['npm', ...args]
}
