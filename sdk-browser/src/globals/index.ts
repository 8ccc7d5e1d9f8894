// Installs the globals on import. Import it before a framework that keeps the Request and Response that it finds.

import { installGlobals, removeGlobals } from './install.ts'

installGlobals()

export { installGlobals, removeGlobals }
