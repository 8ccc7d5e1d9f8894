// What the build makes of imports that are no modules.
declare module '*?inline' {
  const css: string
  export default css
}
declare module '*.css' {}
