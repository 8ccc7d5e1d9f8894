// Checks whether this Node is too old. It imports nothing, and uses nothing that an old Node lacks.

/** The lowest major version of Node, as in `engines` of package.json. */
const NODE_MAJOR_MIN = 24

/** @returns the message for a user whose Node is too old; other runtimes, which also report a Node version, are not checked */
export function nodeTooOld(
  { node, bun, deno }: NodeJS.ProcessVersions = process.versions,
): string | undefined {
  if (bun !== undefined || deno !== undefined || Number.parseInt(node, 10) >= NODE_MAJOR_MIN) return undefined
  return `svc needs Node ${NODE_MAJOR_MIN} or later, and this is Node ${node}`
}
