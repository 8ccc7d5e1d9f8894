// macOS executables have a signature that rcodesign accepts: a program that knows Apple's formats, and is not ours.
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { root } from '../../../tools/programs/command.ts'
import type { Built, Proof } from './proof.ts'

const run = promisify(execFile)
const OUTPUT_MAX_BYTES: number = 64 * 1024 * 1024
const CACHE: string = path.join(root, 'node_modules/.cache/rcodesign')
const PROGRAMS = ['rcodesign', path.join(CACHE, 'bin/rcodesign')]
/** The message of rcodesign about each signature that is ad hoc, and so has no certificate. */
const NO_CERTIFICATE = 'no cryptographic signature present'
const NOTES = [/^\(the verify command/, /^Error: problems reported/]
/** A place in the code of Node, far from what a signature changes. */
const CHANGED_AT = 50_000_000

export const proveSignature: Proof = {
  install: `cargo install --root ${CACHE} --no-default-features apple-codesign`,
  prepare: async ({ svc, relay, directory }: Built) => {
    const found = await findProgram()
    if (found === undefined) return undefined
    const { program, version } = found
    const unpacked = path.join(directory, path.basename(svc, '.gz'))
    const proofs = {
      svc: async () => {
        await pipeline(createReadStream(svc), createGunzip(), createWriteStream(unpacked))
        requireNone(await complaintsOf(program, unpacked))
      },
      'svc-relay': async () => requireNone(await complaintsOf(program, relay)),
      'a changed byte': async () => {
        const file = await open(unpacked, 'r+')
        await file.write(Buffer.from('changed'), 0, undefined, CHANGED_AT)
        await file.close()
        const complaints = await complaintsOf(program, unpacked)
        if (!complaints.some((line) => line.includes('digest mismatch')))
          throw new Error(`rcodesign does not notice the change: ${complaints.join('; ')}`)
      },
    }
    return { version, proofs }
  },
}

async function findProgram(): Promise<{ program: string; version: string } | undefined> {
  for (const program of PROGRAMS) {
    const { stdout } = await run(program, ['--version']).catch(() => ({ stdout: '' }))
    if (stdout !== '') return { program, version: stdout.trim() }
  }
  return undefined
}

/** @returns what is wrong with the signature, but that it is ad hoc */
async function complaintsOf(program: string, file: string): Promise<string[]> {
  const { stdout, stderr } = await run(program, ['verify', file], { maxBuffer: OUTPUT_MAX_BYTES }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  const lines = `${stdout}\n${stderr}`.split('\n').filter(Boolean)
  if (!lines.includes(NO_CERTIFICATE)) throw new Error(`rcodesign did not read the signature: ${lines[0]}`)
  return lines.filter((line) => line !== NO_CERTIFICATE && !NOTES.some((note) => note.test(line)))
}

function requireNone(complaints: string[]): void {
  if (complaints.length > 0) throw new Error(complaints.join('; '))
}
