// The two functions on addresses that swagger-client takes from a package of several hundred kB.
export const url = {
  isHttpUrl: (text: string) => /^https?:/i.test(text),
  resolve: (base: string, relative: string) => new URL(relative, base).href,
};
