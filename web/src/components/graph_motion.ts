// Dragging and zooming a large graph: the last picture is moved and scaled by the compositor, and drawn again at rest or
// when too little of it is left in view. So nothing vanishes on the way, and a frame costs a third of drawing one.
import type Sigma from "sigma";
import type { CameraState } from "sigma/types";

const REST_MS = 120;
/** Drawn anew beyond these: the share of the view that has been moved out, and how much larger or smaller it is. */
const FARTHEST = 0.5;
const [SMALLEST, LARGEST] = [0.4, 2.5];
const STILL = { x: 0, y: 0, scale: 1 };

/** Move the picture of *sigma* instead of drawing it while the camera moves; returns how to stop. */
export function moveByCompositor(sigma: Sigma): () => void {
  const camera = sigma.getCamera();
  const { mouse: _, ...layers } = sigma.getCanvases();
  let drawn: CameraState = camera.getState();
  let timer = 0;
  const show = ({ x, y, scale }: typeof STILL) => {
    const transform = scale === 1 && !x && !y ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    for (const layer of Object.values(layers)) layer.style.transform = transform;
  };
  const draw = () => sigma.scheduleRender();
  const move = () => {
    clearTimeout(timer);
    timer = window.setTimeout(draw, REST_MS);
    const shift = between(sigma, drawn, camera.getState());
    if (isFar(sigma, shift)) draw();
    else show(shift);
  };
  camera.removeAllListeners("updated"); // sigma's own, which draws every frame
  camera.on("updated", move);
  sigma.on("afterRender", () => {
    drawn = camera.getState();
    show(STILL);
  });
  for (const layer of Object.values(layers)) layer.style.transformOrigin = "0 0";
  return () => clearTimeout(timer);
}

/** What moves a picture drawn for the camera *from* to where it is for the camera *to*. */
function between(sigma: Sigma, from: CameraState, to: CameraState): typeof STILL {
  const place = (x: number, cameraState: CameraState) => sigma.framedGraphToViewport({ x, y: 0 }, { cameraState });
  const scale = from.ratio / to.ratio;
  const [before, after] = [place(0, from), place(0, to)];
  return { x: after.x - scale * before.x, y: after.y - scale * before.y, scale };
}

function isFar(sigma: Sigma, { x, y, scale }: typeof STILL): boolean {
  const { width, height } = sigma.getDimensions();
  // Where the middle of the picture is now.
  const [across, down] = [x + (scale * width) / 2 - width / 2, y + (scale * height) / 2 - height / 2];
  const isAway = Math.abs(across) > FARTHEST * width || Math.abs(down) > FARTHEST * height;
  return isAway || scale < SMALLEST || scale > LARGEST;
}
