// The option `cache` of `publish`, and what a site shows of it.

import type { Bundle, BundledFile } from '../handlers/bundled-files.ts'
import type { FileSource } from '../handlers/file-tree.ts'

/** A CacheContent is the content of one file. Bytes must not be changed once they were given: other content is another array. */
export type CacheContent = Blob | Uint8Array | string | BundledFile

/**
 * CacheFiles are the files that the relay stores.
 * - a map or a record of paths such as `assets/main.js`
 * - a FileList or an array: each file under its name; those of a folder input under their path in that folder
 * - a FileSystemDirectoryHandle: the folder with all that is below it; in Node the one of `openFolder`
 * - the bundle that an adapter made of a build
 *
 * Hidden files, which the handler `files` does not show either, are left out.
 */
export type CacheFiles =
  | FileSource
  | ReadonlyMap<string, CacheContent>
  | Readonly<Record<string, CacheContent>>
  | Bundle

/** A CacheOptions object asks the relay to serve the site's files while the site is away. */
export interface CacheOptions {
  /**
   * The files, or a function that returns them. Each time that the SDK looks for changes, it calls the function, or reads the
   * map or the folder, again.
   */
  files: CacheFiles | (() => CacheFiles | Promise<CacheFiles>)
  /**
   * The path of the file that visitors get for `/`, and for unknown paths without an extension. It must be one of the files.
   * @default index.html
   */
  index?: string | undefined
  /**
   * `false` for a site that answers paths of its own, such as an API: the relay then passes unknown paths on to the site while it is
   * online, and answers 404 while it is away. Older relays send the index.
   * @default true
   */
  fallback?: boolean | undefined
  /**
   * The seconds for which the relay serves the files after the site went away: a whole number, which the relay may reduce. 0
   * means as long as the relay allows.
   * @default 0
   */
  ttl?: number | undefined
}

/** A CacheStatus is what the relay last said of a site's files. */
export interface CacheStatus {
  /** True when the relay stores the files as they were at the last look: visitors get them while the site is away. */
  readonly present: boolean
  /**
   * The time at which the relay stops serving the files if it never hears from the site again: RFC 3339, by the relay's clock. The time moves
   * on while the site is online. Undefined while the relay stores no files.
   */
  readonly expires_at: string | undefined
}

/** A SiteCache says what the relay stores of a site's files. The site dispatches `cachechange` when that changes. */
export interface SiteCache extends CacheStatus {
  /**
   * Looks for changes at once, and stores the files again after {@link remove}. Resolves when the relay has them, or when that
   * failed. Never rejects.
   */
  refresh(): Promise<void>
  /**
   * Makes the relay delete the files. The SDK stores none until {@link refresh} is called.
   * @throws SvcError when the relay did not do it; the files then expire by themselves
   */
  remove(): Promise<void>
}
