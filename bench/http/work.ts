// The requests of the benchmark to both servers: paths, sizes and bodies that a page and node:https answer alike.

export const PATH = {
  small: '/small',
  download: '/download',
  upload: '/upload',
  gallery: '/gallery',
} as const
export const SMALL_BODY = 'hello, visitor'
/** Bytes of one write of a download, and of an upload. */
export const CHUNK_BYTES: number = 64 * 1024
export const GALLERY_IMAGES = 100

/** @returns the path of a download of this many bytes */
export function downloadPath(bytes: number): string {
  return `${PATH.download}?bytes=${bytes}`
}

export function downloadBytes(url: URL): number {
  return Number(url.searchParams.get('bytes'))
}

/** A page of images, each of which has to be fetched. */
export function galleryHtml(): string {
  const images = Array.from({ length: GALLERY_IMAGES }, (_, number) => `<img src="/image/${number}.bmp">`)
  return `<!doctype html><link rel="icon" href="data:,">${images.join('')}`
}

const IMAGE_EDGE = 24
const BMP_HEADER_BYTES = 54

/** 1.8 KB that take no time to make or to decode: BMP, 24 by 24 pixels of one colour. */
export function image(path: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(BMP_HEADER_BYTES + 3 * IMAGE_EDGE ** 2)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, 0x424d)
  view.setUint32(2, bytes.length, true)
  view.setUint32(10, BMP_HEADER_BYTES, true)
  view.setUint32(14, 40, true)
  view.setInt32(18, IMAGE_EDGE, true)
  view.setInt32(22, IMAGE_EDGE, true)
  view.setUint16(26, 1, true)
  view.setUint16(28, 24, true)
  return bytes.fill(Number.parseInt(path.slice('/image/'.length), 10), BMP_HEADER_BYTES)
}
