/** A file as text, which the bundler puts in. */
declare module '*?raw' {
  const text: string;
  export default text;
}
