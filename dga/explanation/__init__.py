"""What a picture suffered, as simple inverses that the discriminator chooses from. Ours."""
