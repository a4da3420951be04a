// Word by word difference of two texts.

export interface Piece {
  kind: "same" | "added" | "removed";
  text: string;
}

const LARGEST_TABLE = 1_000_000;

/** How *before* became *after*: what they share, what was removed and what was added. */
export function difference(before: string, after: string): Piece[] {
  const one = before.match(/\s+|[^\s]+/g) ?? [];
  const other = after.match(/\s+|[^\s]+/g) ?? [];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start++;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const pieces: Piece[] = [];
  put(pieces, "same", one.slice(0, start));
  compare(pieces, one.slice(start, one.length - end), other.slice(start, other.length - end));
  put(pieces, "same", one.slice(one.length - end));
  return pieces;
}

function put(pieces: Piece[], kind: Piece["kind"], words: string[]): void {
  if (!words.length) return;
  const last = pieces.at(-1);
  if (last?.kind === kind) last.text += words.join("");
  else pieces.push({ kind, text: words.join("") });
}

/** Longest common subsequence; texts too long for it are shown as one replaced by the other. */
function compare(pieces: Piece[], one: string[], other: string[]): void {
  if (one.length * other.length > LARGEST_TABLE) {
    put(pieces, "removed", one);
    put(pieces, "added", other);
    return;
  }
  const width = other.length + 1;
  const table = new Uint32Array((one.length + 1) * width);
  const at = (row: number, column: number) => table[row * width + column] as number;
  for (let row = one.length - 1; row >= 0; row--) {
    for (let column = other.length - 1; column >= 0; column--) {
      table[row * width + column] =
        one[row] === other[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  let row = 0;
  let column = 0;
  while (row < one.length || column < other.length) {
    if (row < one.length && column < other.length && one[row] === other[column]) {
      put(pieces, "same", [one[row] as string]);
      row++;
      column++;
    } else if (column === other.length || (row < one.length && at(row + 1, column) >= at(row, column + 1))) {
      put(pieces, "removed", [one[row++] as string]);
    } else {
      put(pieces, "added", [other[column++] as string]);
    }
  }
}
