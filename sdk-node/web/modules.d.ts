// The build makes one file of the page and its style.
declare module '*.css' {}
