"""From markers to landmarks, joint centres, segment poses and joint angles."""
