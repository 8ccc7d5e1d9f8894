// The types of messages and services that a user's FileDescriptorSet has.

import { SvcError } from '../../errors.ts'
import {
  createFileRegistry,
  type DescMessage,
  FileDescriptorSetSchema,
  type FileRegistry,
  fromBinary,
  toJson,
} from './library.ts'
import type { Method } from './media-type.ts'
import { unknownFields } from './unknown-fields.ts'

/** A DecodedMessage is a message by its descriptor. */
export interface DecodedMessage {
  /** In the JSON of protobuf, with the names of fields as they are in the source. */
  json: unknown
  /** The fields that the descriptor does not have, each line with its path. */
  unknown: string[]
}

/** Descriptors are the types of messages and services of one FileDescriptorSet. */
export class Descriptors {
  readonly #registry: FileRegistry
  /** The names of the types of messages, in alphabetical order. */
  readonly names: readonly string[]

  private constructor(registry: FileRegistry) {
    this.#registry = registry
    this.names = [...registry].flatMap((one) => (one.kind === 'message' ? one.typeName : [])).sort()
  }

  /**
   * Reads a FileDescriptorSet, as `protoc --include_imports -o FILE` writes it.
   * @throws SvcError `invalid_option`
   */
  static read(set: Uint8Array): Descriptors {
    let descriptors: Descriptors | undefined
    try {
      descriptors = new Descriptors(createFileRegistry(fromBinary(FileDescriptorSetSchema, set)))
    } catch (cause) {
      const reason = (cause as Error).message
      throw new SvcError('invalid_option', `it cannot be read as a FileDescriptorSet: ${reason} (${HOW})`, {
        cause,
      })
    }
    if (descriptors.names.length > 0) return descriptors
    throw new SvcError('invalid_option', `it has no message types (${HOW})`)
  }

  /** @returns the type of a method's message; undefined for an unknown method */
  typeOf({ service, name }: Method, side: 'request' | 'response'): string | undefined {
    const method = this.#registry.getService(service)?.methods.find((one) => one.name === name)
    return method?.[side === 'request' ? 'input' : 'output'].typeName
  }

  has(type: string): boolean {
    return this.#registry.getMessage(type) !== undefined
  }

  /** @throws Error when the bytes are no such message, or its JSON needs a type that is not known */
  decode(type: string, bytes: Uint8Array): DecodedMessage {
    const registry = this.#registry
    const described: DescMessage = registry.getMessage(type)!
    const message = fromBinary(described, bytes)
    return {
      json: toJson(described, message, { registry, useProtoFieldName: true }),
      unknown: unknownFields(message),
    }
  }
}

const HOW = 'protoc --include_imports -o FILE writes one'
