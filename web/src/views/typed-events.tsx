/** Module events of one type, in the order of the ledger (docs/extensions.md). */
import type { TypedEvent } from '../asking/answers.ts';
import { Listed, useListing } from '../asking/ask.tsx';
import { RequestPanel } from '../asking/request-panel.tsx';
import { typedEventsRequest } from '../asking/requests.ts';
import { JsonView } from '../modules/move-text.tsx';
import { VersionId } from '../parts/ids.tsx';
import { LookUp, Table } from '../parts/parts.tsx';
import { parameter } from '../route.ts';

export function TypedEvents() {
  const type = parameter('type');
  const from = parameter('from');
  const listing = useListing<TypedEvent>((cursor = from) => typedEventsRequest(type, cursor));
  return (
    <>
      <LookUp
        view="events"
        label="Events of a type"
        submit="Show events"
        fields={[
          { label: 'Type', name: 'type', required: true, wide: true },
          { label: 'From version', name: 'from', placeholder: 'oldest' },
        ]}
      />
      <Listed listing={listing} title="Events" none="No module event of exactly this type is here.">
        {(events) => (
          <Table
            style="events cards"
            caption="Events of the type, oldest first"
            columns={['#Version', '#Index', 'Event']}
          >
            {events.map(({ version, index, data }) => (
              <tr key={`${version}:${index}`}>
                <td class="number">
                  <VersionId version={version} />
                </td>
                <td class="number">{String(index)}</td>
                <td>
                  <JsonView value={data} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Listed>
      <RequestPanel asked={listing.asked} />
    </>
  );
}
