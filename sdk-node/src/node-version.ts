// Finds out whether this Node is too old. It imports nothing, and uses nothing that an old Node lacks.

/** The oldest major version of Node, as `engines` of package.json says. */
const NODE_MAJOR_MIN = 24

/** @returns the sentence for a user whose Node is too old; other runtimes, which name a version of Node as well, are not judged */
export function nodeTooOld(
  { node, bun, deno }: NodeJS.ProcessVersions = process.versions,
): string | undefined {
  if (bun !== undefined || deno !== undefined || Number.parseInt(node, 10) >= NODE_MAJOR_MIN) return undefined
  return `svc needs Node ${NODE_MAJOR_MIN} or later, and this is Node ${node}`
}
