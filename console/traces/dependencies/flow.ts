import type { Edge, Node } from '@xyflow/react';
import type { Dependencies } from '../parts/answers.ts';
import { formatCount, formatDuration, formatShare } from '../../ui/text.ts';
import { placeInLayers } from '../../ui/layers.ts';

export type ServiceNode = Node<{ readonly service: Dependencies['nodes'][number] }, 'service'>;

const columnWidth = 330;
const rowHeight = 88;
/** An edge where more than this share fails is red. */
const failingShare = 0.05;

/** The nodes of a graph where their layers put them; columns are centred on each other. */
export function nodesOf({ nodes, edges }: Dependencies): ServiceNode[] {
  const byId = new Map(nodes.map((node) => [node.serviceId, node]));
  return placeInLayers([...byId.keys()], edges).flatMap(({ id, layer, rank, layerSize }) => {
    const service = byId.get(id);
    if (!service) return [];
    const position = { x: layer * columnWidth, y: (rank - layerSize / 2) * rowHeight };
    return [{ id, type: 'service' as const, position, data: { service } }];
  });
}

/** With more calls their labels would cover each other; then only those of the chosen service are told. */
const labelsMax = 14;

/** The calls of a graph: the more there are, the wider; red where they fail. */
export function edgesOf({ edges }: Dependencies, chosenId: string | undefined): Edge[] {
  const most = Math.max(1, ...edges.map(({ requests }) => requests));
  return edges.map((edge) => {
    const { from, to, requests, errorRate } = edge;
    const isChosen = from === chosenId || to === chosenId;
    const width = 1 + 4 * (Math.log1p(requests) / Math.log1p(most));
    return {
      id: `${from} → ${to}`,
      source: from,
      target: to,
      ...(isChosen || (chosenId === undefined && edges.length <= labelsMax)
        ? { label: labelOf(edge) }
        : {}),
      className: errorRate > failingShare ? 'failing' : '',
      style: { strokeWidth: width, opacity: chosenId === undefined || isChosen ? 1 : 0.2 },
      markerEnd: { type: 'arrowclosed', markerUnits: 'userSpaceOnUse', width: 16, height: 16 },
    };
  });
}

function labelOf({ requests, errorRate, p95Latency }: Dependencies['edges'][number]): string {
  const errors = errorRate > 0 ? `, ${formatShare(errorRate)} fail` : '';
  return `${formatCount(requests)}${errors}, p95 ${formatDuration(p95Latency)}`;
}
