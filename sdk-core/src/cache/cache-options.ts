// The option `cache` of `publish`, and the property `cache` of a site.

import type { Bundle, BundledFile } from '../handlers/bundled-files.ts'
import type { FileSource } from '../handlers/file-tree.ts'

/** A CacheContent is the content of one file. Do not change the bytes of an array later: pass new content as a new array. */
export type CacheContent = Blob | Uint8Array | string | BundledFile

/**
 * CacheFiles are the files that the relay stores.
 * - a map or a record of paths such as `assets/main.js`
 * - a FileList or an array: each file under its name; those of a folder input under their path in that folder
 * - a FileSystemDirectoryHandle: the folder and everything below it; in Node, what `openFolder` returns
 * - the bundle that an adapter made of a build
 *
 * Hidden files are left out, as the handler `files` does.
 */
export type CacheFiles =
  | FileSource
  | ReadonlyMap<string, CacheContent>
  | Readonly<Record<string, CacheContent>>
  | Bundle

/** A CacheOptions object asks the relay to serve the site's files while the site is away. */
export interface CacheOptions {
  /**
   * The files, or a function that returns them. Each time the SDK looks for changes, it calls the function, or reads the
   * map or the folder, again.
   */
  files: CacheFiles | (() => CacheFiles | Promise<CacheFiles>)
  /**
   * The path of the file that visitors get for `/`, and for unknown paths without an extension. It must be one of the files.
   * @default index.html
   */
  index?: string | undefined
  /**
   * `false` for a site that also answers other paths, such as an API: the relay then passes unknown paths to the site while it is
   * online, and answers 404 while it is away. Older relays send the index.
   * @default true
   */
  fallback?: boolean | undefined
  /**
   * The seconds for which the relay serves the files after the site goes away: a whole number, which the relay may reduce. 0
   * means as long as the relay allows.
   * @default 0
   */
  ttl?: number | undefined
}

/** A CacheStatus is what the relay last reported about a site's files. */
export interface CacheStatus {
  /** True when the relay stores the files as they were at the last check: visitors get them while the site is away. */
  readonly present: boolean
  /**
   * When the relay stops serving the files if it does not hear from the site again: RFC 3339, by the relay's clock. The time moves
   * on while the site is online. Undefined while the relay stores no files.
   */
  readonly expires_at: string | undefined
}

/** A SiteCache says which of a site's files the relay stores. The site dispatches `cachechange` when that changes. */
export interface SiteCache extends CacheStatus {
  /**
   * Looks for changes at once, and stores the files again after {@link remove}. Resolves when the relay has them, or when this
   * failed. Never rejects.
   */
  refresh(): Promise<void>
  /**
   * Makes the relay delete the files. The SDK stores none until {@link refresh} is called.
   * @throws SvcError when the relay did not delete them; the files then expire
   */
  remove(): Promise<void>
}
