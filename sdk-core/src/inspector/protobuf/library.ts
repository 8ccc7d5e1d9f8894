// The only importer of the library for protobuf, which is loaded when a content needs it.

export {
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  toJson,
} from '@bufbuild/protobuf'
export { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
export { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
