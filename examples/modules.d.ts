// Declares what the build makes of imports with a query: vite.config.ts adds `?script`, Vite knows the others.
declare module '*?script' {
  /** A module for visitors' pages, bundled. */
  const text: string
  export default text
}
declare module '*?inline' {
  const css: string
  export default css
}
declare module '*?raw' {
  const text: string
  export default text
}
declare module '*?worker&url' {
  const url: string
  export default url
}
declare module '*/build/site.js' {
  /** The handler that an adapter of `@svc/sdk-browser` made of a framework's build. It exists after that build. */
  export const fetch: import('@svc/sdk-browser').FetchHandler
}
