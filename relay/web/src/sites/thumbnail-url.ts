// What a lease names as its thumbnail, if that is a picture and nothing else.

/** An image element runs no script of any of these, nor loads what they refer to. */
const IMAGE_DATA_URL = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i

/** @returns what an image element may load: a picture as data, or one that is fetched over HTTPS */
export function thumbnailUrl(thumbnail: string | undefined): string | undefined {
  if (thumbnail === undefined) return undefined
  if (IMAGE_DATA_URL.test(thumbnail)) return thumbnail
  const url = URL.parse(thumbnail)
  return url?.protocol === 'https:' ? url.href : undefined
}
