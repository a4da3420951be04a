// A table with sortable columns, selectable rows and a current row that keys move.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../strings";
import { Icon } from "./icon";

export interface Column<T> {
  key: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  /** Name of the order that the column sorts by. */
  order?: string;
  numeric?: boolean;
  /** Left out on a phone. */
  optional?: boolean;
}

interface TableProps<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  id: (row: T) => number | string;
  current?: number;
  onCurrent?: (index: number) => void;
  selected?: ReadonlySet<number | string>;
  onSelect?: (row: T, selected: boolean) => void;
  onSelectAll?: (selected: boolean) => void;
  sort?: { order: string; descending: boolean };
  onSort?: (order: string) => void;
  /** Names a row to those who select it without seeing it. */
  name?: (row: T) => string;
}

export function Table<T>(props: TableProps<T>) {
  const { columns, rows, id, selected, onSelect, current } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    if (current !== undefined && current >= 0) body.current?.rows[current]?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const all = rows.length > 0 && rows.every((row) => selected?.has(id(row)));
  return (
    <div class="table-place" role="region" aria-label={props.label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {onSelect && (
              <th class="choice">
                <input
                  type="checkbox"
                  aria-label={t.table.selectAll}
                  checked={all}
                  onChange={(event) => props.onSelectAll?.(event.currentTarget.checked)}
                />
              </th>
            )}
            {columns.map((column) => (
              <Heading key={column.key} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, index) => (
            <tr
              key={id(row)}
              class={index === current ? "current" : ""}
              aria-current={index === current ? "true" : undefined}
              onClick={() => props.onCurrent?.(index)}
            >
              {onSelect && (
                // Rendering between a click and the change it makes would take the change back.
                <td class="choice" onClick={(event) => event.stopPropagation()}>
                  <input
                    type="checkbox"
                    aria-label={t.table.select(props.name?.(row) ?? String(id(row)))}
                    checked={selected?.has(id(row)) ?? false}
                    onChange={(event) => onSelect(row, event.currentTarget.checked)}
                  />
                </td>
              )}
              {columns.map((column) => (
                <td key={column.key} class={classes(column)} data-label={column.title}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classes<T>(column: Column<T>): string {
  return `${column.numeric ? "number" : ""} ${column.optional ? "optional" : ""} col-${column.key}`;
}

interface HeadingProps<T> {
  column: Column<T>;
  sort?: { order: string; descending: boolean };
  onSort?: (order: string) => void;
}

function Heading<T>({ column, sort, onSort }: HeadingProps<T>) {
  const { order } = column;
  if (!order || !onSort) {
    return (
      <th scope="col" class={classes(column)}>
        {column.title}
      </th>
    );
  }
  const active = sort?.order === order;
  const direction = active ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <th scope="col" class={classes(column)} aria-sort={direction}>
      <button type="button" class="sort" onClick={() => onSort(order)}>
        {column.title}
        {active && <Icon name={sort.descending ? "down" : "up"} />}
      </button>
    </th>
  );
}
