// `import '@svc/sdk-browser/globals'`: before a framework is loaded that keeps the Request and Response that it finds.

import { installGlobals, removeGlobals } from './install.ts'

installGlobals()

export { installGlobals, removeGlobals }
