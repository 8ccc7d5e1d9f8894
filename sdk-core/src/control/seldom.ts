// The code of the control plane that most pages never need, in one file for those that do.

export { parseDedicatedPorts } from './dedicated-ports.ts'
export { withLessMetadata } from './lesser-metadata.ts'
export { prepareRenewal } from './previous-owner.ts'
