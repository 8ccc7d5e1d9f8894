// The environment of programs that the relay starts.

/** @returns the relay's environment without its settings, some of which are secret. @param names of all settings */
export function childEnvironment(names: readonly string[]): NodeJS.ProcessEnv {
  const settings = new Set(names)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.has(name)))
}
