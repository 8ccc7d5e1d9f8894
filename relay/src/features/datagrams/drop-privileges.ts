// Drops the rights of root once the process has its port.

/** User and group without files: `nobody` on most systems, and no other user on any. */
const NOBODY = 65_534

/** @returns false when the system does not allow the change, and the process stays root */
export function dropPrivileges(): boolean {
  if (process.getuid?.() !== 0) return true
  try {
    process.setgroups?.([])
    process.setgid?.(NOBODY)
    process.setuid?.(NOBODY)
    return true
  } catch {
    return false
  }
}
