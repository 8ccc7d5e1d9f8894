// Gives up what a process may do as root, once it has what it needed that for.

/** The user and group that own nothing: `nobody` on most systems, and on none anybody else. */
const NOBODY = 65_534

/** @returns false when this process goes on as root, for the system does not let it change that */
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
