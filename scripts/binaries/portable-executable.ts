// Takes the signature off a Windows executable (PE/COFF, "The attribute certificate table"): what is put into the file later
// would make it wrong, and leave its entry pointing into other data.

/** Where the header names the place of the PE header. */
const PE_OFFSET_AT = 0x3c
const PE_SIGNATURE = 0x4550
const COFF_HEADER_BYTES = 24
/** Magic of the optional header of a 64-bit program. */
const PE32_PLUS = 0x20b
/** Place of the entry for certificates in that header: an offset in the file, and a length. */
const CERTIFICATES_AT: number = 112 + 4 * 8

/** @throws Error when the file is no 64-bit Windows executable, or its signature is not at its end */
export function stripSignature(file: Buffer): Buffer {
  const header = file.readUInt32LE(PE_OFFSET_AT)
  const optional = header + COFF_HEADER_BYTES
  if (file.readUInt32LE(header) !== PE_SIGNATURE || file.readUInt16LE(optional) !== PE32_PLUS)
    throw new Error('this is no 64-bit Windows executable')
  const at = optional + CERTIFICATES_AT
  const offset = file.readUInt32LE(at)
  if (offset === 0) return file
  if (offset + file.readUInt32LE(at + 4) !== file.length)
    throw new Error('the signature of the Windows executable is not at its end')
  const stripped = Buffer.from(file.subarray(0, offset))
  stripped.writeBigUInt64LE(0n, at)
  return stripped
}
