// Checks that a lease's thumbnail is an image that the page may show.

/** Data URLs of image types. An image element runs no scripts and loads no references of them. */
const IMAGE_DATA_URL = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i

/** @returns an image as a data URL; undefined for everything else, because another host would learn who views the list */
export function thumbnailUrl(thumbnail: string | undefined): string | undefined {
  return thumbnail !== undefined && IMAGE_DATA_URL.test(thumbnail) ? thumbnail : undefined
}
