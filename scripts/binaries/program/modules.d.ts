// The bundler takes the text of a file for such an import.
declare module '*?raw' {
  const text: string
  export default text
}
