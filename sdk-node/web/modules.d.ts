// The build makes files of the styles.
declare module '*.css' {}
