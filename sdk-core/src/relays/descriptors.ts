// The code that reads and checks descriptors, which is loaded when relays are discovered.

export { parseDescriptor, verifyDescriptor } from '@svc/protocol'
