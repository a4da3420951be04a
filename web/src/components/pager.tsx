// Previous and next page of a listing.
import { t } from "../strings";
import { Button } from "./controls";

interface PagerProps {
  offset: number;
  limit: number;
  shown: number;
  total: number | undefined;
  onOffset: (offset: number) => void;
}

export function Pager({ offset, limit, shown, total, onOffset }: PagerProps) {
  const last = offset + shown;
  const isLast = total === undefined ? shown < limit : last >= total;
  return (
    <nav class="pager" aria-label={t.table.pages}>
      <span class="faint" role="status">
        {shown > 0 && t.counts.range(offset + 1, last, total ?? last)}
      </span>
      <Button icon="left" disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - limit))}>
        {t.actions.previous}
      </Button>
      <Button disabled={isLast} onClick={() => onOffset(offset + limit)}>
        {t.actions.next}
      </Button>
    </nav>
  );
}
