// A FileDescriptorSet for tests: messages of the protobuf documentation's page "Encoding", and a service.

import { create, toBinary } from '@bufbuild/protobuf'
import {
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt'

const field = (name: string, number: number, type: Type, typeName?: string, label = Label.OPTIONAL) => ({
  name,
  number,
  type,
  label,
  ...(typeName !== undefined && { typeName }),
})

/** @param other the names of further messages without fields */
export function descriptorSet(other: readonly string[] = []): Uint8Array<ArrayBuffer> {
  return toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, {
      file: [
        {
          name: 'test.proto',
          package: 'test',
          syntax: 'proto3',
          messageType: [
            { name: 'Test1', field: [field('a', 1, Type.INT32)] },
            { name: 'Test2', field: [field('b', 2, Type.STRING)] },
            { name: 'Test3', field: [field('c', 3, Type.MESSAGE, '.test.Test1')] },
            {
              name: 'Test4',
              field: [
                field('d', 4, Type.STRING),
                field('e', 5, Type.INT32, undefined, Label.REPEATED),
                field('snake_case', 6, Type.MESSAGE, '.test.Test4', Label.REPEATED),
              ],
            },
            ...other.map((name) => ({ name })),
          ],
          service: [
            {
              name: 'Echo',
              method: [
                { name: 'Unary', inputType: '.test.Test2', outputType: '.test.Test3' },
                { name: 'Same', inputType: '.test.Test4', outputType: '.test.Test4' },
              ],
            },
          ],
        },
      ],
    }),
  ) as Uint8Array<ArrayBuffer>
}
