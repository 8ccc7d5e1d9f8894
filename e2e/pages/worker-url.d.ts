// Vite's import of a bundled worker's address.
declare module '*?worker&url' {
  const url: string
  export default url
}
