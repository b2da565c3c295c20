import { placeInLayers } from '../../ui/layers.ts';
import { edgesOf, type Flow } from './flow.ts';

/** Between the left edges of columns, and the tops of rows. */
const columnWidth = 290;
const rowHeight = 130;

/** Whether its nodes have no places of their own: some lie on top of each other. */
export function lacksPlaces({ nodes }: Flow): boolean {
  const places = nodes.map(({ position }) => (position ? `${position.x} ${position.y}` : ''));
  return places.includes('') || new Set(places).size < places.length;
}

/** The flow with its nodes in columns, each behind all that lead to it; edges that lead back are let be. */
export function layOut(flow: Flow): Flow {
  const arrows = edgesOf(flow).map(({ source, target }) => ({ from: source, to: target }));
  const ids = flow.nodes.map(({ id }) => id);
  const positions = new Map(
    placeInLayers(ids, arrows).map(({ id, layer, rank, layerSize }) => [
      id,
      { x: layer * columnWidth, y: Math.round((rank - (layerSize - 1) / 2) * rowHeight) },
    ]),
  );
  const nodes = flow.nodes.map((node) => ({ ...node, position: positions.get(node.id) ?? origin }));
  return { ...flow, nodes };
}

const origin = { x: 0, y: 0 };
