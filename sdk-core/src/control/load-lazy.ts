// Loads the code of the control plane that most pages never need.

/** Rejects where code cannot be loaded later, as in a service worker. */
export const loadLazy = (): Promise<typeof import('./lazy.ts')> => import('./lazy.ts')
