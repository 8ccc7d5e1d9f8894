// Loads the code of the control plane that most pages never need.

/** Rejects where no code can be loaded late, as in a service worker. */
export const loadLazy = (): Promise<typeof import('./lazy.ts')> => import('./lazy.ts')
