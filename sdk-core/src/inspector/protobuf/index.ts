// Protobuf in an inspector. It is loaded when there is some to show, or descriptors to read.

export { Descriptors } from './descriptors.ts'
export { type ShownMessage, shownMessage } from './shown-message.ts'
