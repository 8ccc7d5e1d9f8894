// Keeps Node from loading zod's translations of its messages: 64 modules, a tenth of what a start takes, and the relay reads none.

import { registerHooks } from 'node:module'

/** Called before the first import of zod. */
export function skipTranslations(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === '../locales/index.js' && context.parentURL?.includes('/zod/')
        ? { url: 'data:text/javascript,', format: 'module', shortCircuit: true }
        : next(specifier, context),
  })
}
