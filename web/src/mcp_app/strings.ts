// Every sentence the MCP App says, in English. A translation is another object of this type.

const plural = (count: number, one: string, many: string) => `${count.toLocaleString()} ${count === 1 ? one : many}`;

export const t = {
  loading: "Loading…",
  cancelled: "Cancelled.",
  recalled: (count: number) => `${plural(count, "memory", "memories")} for`,
  relevance: (share: string) => `Relevance ${share}`,
  more: "Show all",
  less: "Show less",
  links: "Links",
  linksOf: (title: string) => `Links of ${title}`,
  around: (title: string) => `Linked to ${title}`,
  picture: (nodes: number, links: number) => `${plural(nodes, "memory", "memories")}, ${plural(links, "link", "links")}. The list below says the same.`,
  unlinked: "Nothing is linked to it.",
  nothing: "No links",
};
