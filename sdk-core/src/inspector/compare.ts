// Compares the answers of two entries: status, fields, and the lines of their contents.

import { bodyView } from './body-view.ts'
import { decodedBody } from './decoded-body.ts'
import type { Content, Entry } from './entry.ts'
import { hexDump } from './hex-dump.ts'
import type { Comparison } from './messages.ts'
import { type Decoding, grpcMessages, protobufView } from './protobuf-view.ts'
import { maskedFields } from './secrets.ts'

/** The most lines of each content that differ and are compared: the work grows with their product. */
const LINES_MAX = 1_000
/** The most bytes of a content that is no text. */
const HEX_MAX_BYTES: number = 16 * 1024
/** Fields that differ with each answer. */
const ALWAYS_OTHERS: ReadonlySet<string> = new Set(['date'])

type Line = Comparison['lines'][number]

/** @param decodingOf by which types the protobuf of an entry is shown. @default the numbers of fields alone */
export async function compared(
  one: Entry,
  other: Entry,
  isUnmasked: boolean,
  decodingOf: (entry: Entry) => Decoding = () => ({ descriptors: [] }),
): Promise<Comparison> {
  const [first, second] = await Promise.all([one, other].map((entry) => linesOf(entry, decodingOf(entry))))
  const { lines, cut } = differences(first!.lines, second!.lines)
  return {
    status: [one.response?.status, other.response?.status],
    headers: differentFields(one.response, other.response, isUnmasked),
    lines,
    cut: cut || first!.cut || second!.cut,
  }
}

function differentFields(
  one: Content | undefined,
  other: Content | undefined,
  isUnmasked: boolean,
): Comparison['headers'] {
  const [before, after] = [one, other].map((content) => valuesOf(content, true))
  const [shownBefore, shownAfter] = [one, other].map((content) => valuesOf(content, isUnmasked))
  const names = [...new Set([...before!.keys(), ...after!.keys()])].sort()
  return names
    .filter((name) => !ALWAYS_OTHERS.has(name) && before!.get(name) !== after!.get(name))
    .map((name) => ({ name, one: shownBefore!.get(name), other: shownAfter!.get(name) }))
}

function valuesOf(content: Content | undefined, isUnmasked: boolean): Map<string, string> {
  const fields = content ? maskedFields([...content.headers, ...content.trailers], isUnmasked) : []
  const grouped = Map.groupBy(fields, ({ name }) => name.toLowerCase())
  return new Map([...grouped].map(([name, all]) => [name, all.map(({ value }) => value).join('\n')]))
}

interface Lines {
  lines: string[]
  cut: boolean
}

async function linesOf(entry: Entry, decoding: Decoding): Promise<Lines> {
  const { response } = entry
  if (entry.kind === 'grpc') return await linesOfMessages(entry, decoding)
  if (!response || response.bodyBytes === 0) return { lines: [], cut: false }
  const decoded = await decodedBody(response)
  const view = (await protobufView(entry, 'response', decoded, decoding)) ?? bodyView(response, decoded)
  if (view.kind === 'json' || view.kind === 'text' || view.kind === 'protobuf')
    return { lines: view.text.split('\n'), cut: view.cut }
  return linesOfBytes(decoded.bytes, decoded.length !== decoded.bytes.length)
}

/** The messages of an answer of gRPC, one after the other. */
async function linesOfMessages(entry: Entry, { descriptors }: Decoding): Promise<Lines> {
  const shown = await grpcMessages(entry, descriptors)
  const answers = entry.messages.filter(({ direction }) => direction === 'out')
  const parts = answers.map((message): Lines => {
    const one = shown.get(message)
    return one
      ? { lines: one.text.split('\n'), cut: one.cut }
      : linesOfBytes(message.data, message.size > message.data.length)
  })
  return {
    lines: parts.flatMap(({ lines }) => lines),
    cut: entry.droppedMessages > 0 || parts.some(({ cut }) => cut),
  }
}

function linesOfBytes(bytes: Uint8Array, isCut: boolean): Lines {
  return {
    lines: hexDump(bytes.subarray(0, HEX_MAX_BYTES)).split('\n'),
    cut: isCut || bytes.length > HEX_MAX_BYTES,
  }
}

function differences(one: readonly string[], other: readonly string[]): Pick<Comparison, 'lines' | 'cut'> {
  let start = 0
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1
  let end = 0
  const least = Math.min(one.length, other.length) - start
  while (end < least && one.at(-1 - end) === other.at(-1 - end)) end += 1
  const before = one.slice(start, one.length - end)
  const after = other.slice(start, other.length - end)
  const cut = before.length > LINES_MAX || after.length > LINES_MAX
  const same = (text: string): Line => ({ kind: 'same', text })
  return {
    lines: [
      ...one.slice(0, start).map(same),
      ...middle(before.slice(0, LINES_MAX), after.slice(0, LINES_MAX)),
      ...one.slice(one.length - end).map(same),
    ],
    cut,
  }
}

/** The longest common subsequence of lines, by the table of its lengths. */
function middle(one: readonly string[], other: readonly string[]): Line[] {
  const width = other.length + 1
  const lengths = new Uint16Array((one.length + 1) * width)
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        one[i] === other[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      lines.push({ kind: 'same', text: one[i]! })
      i += 1
      j += 1
    } else if (
      i < one.length &&
      (j === other.length || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
    ) {
      lines.push({ kind: 'removed', text: one[i]! })
      i += 1
    } else {
      lines.push({ kind: 'added', text: other[j]! })
      j += 1
    }
  }
  return lines
}
