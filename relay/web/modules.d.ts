// What the build makes of imports that are no modules.
declare module '*?inline' {
  const css: string
  export default css
}
declare module '*.css' {}
declare module '*?raw' {
  const text: string
  export default text
}
declare module '*?script' {
  /** A module for visitors' pages, bundled. */
  const text: string
  export default text
}
declare module '*?worker&url' {
  const url: string
  export default url
}
